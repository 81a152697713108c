#!/bin/bash
# reports_test.sh CHECK BUCKET_REPORT PLOT_MEMORY LM_TRAIN CTC IMAGE_SHAPES FILE...: makes pages
# and pictures as users do, small and large ones, and has a browser look at them and at the files
# (CHECK is check_pages.py). What it saw is in the test's outputs, outputs.zip.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 0; }
programs=()
for program in "${@:2:5}"; do programs+=("$PWD/$program"); done
check=$PWD/$1
files=()
for file in "${@:7}"; do files+=("$PWD/$file"); done
bucket_report=${programs[0]} plot_memory=${programs[1]} lm_train=${programs[2]}
cd "$TEST_TMPDIR"

# Sentences as long as those of a text: most near ten words, some of a hundred.
awk 'BEGIN {
  srand(1)
  for (i = 0; i < 2000; ++i) {
    n = 1 + int(12 * -log(1 - rand()))
    for (j = 0; j < n; ++j) printf "%s%s", (j ? " " : ""), "w" int(40 * rand() * rand())
    print ""
  }
}' >text.txt
awk 'BEGIN { srand(2); for (i = 0; i < 3000; ++i) { a = 1 + int(60 * rand() ^ 2)
  print a "," int(a * (0.7 + 0.6 * rand())) + 1 } }' >pairs.txt
awk 'BEGIN { srand(3); for (i = 0; i < 5000; ++i) print int(exp(20 * rand())) + 1 }' >wide.txt
printf '7\n%.0s' {1..100} >equal.txt
head -n 300 text.txt | cut -d " " -f 1-12 >short.txt

"$bucket_report" --text=text.txt --output=buckets.html
"$bucket_report" --text=text.txt --buckets=10,20,40 --max_length=40 --output=buckets_in_use.html
"$bucket_report" --lengths=pairs.txt --output=pairs.html
"$bucket_report" --lengths=wide.txt --max_buckets=64 --bucket_cost=0 --output=many_buckets.html
"$bucket_report" --text=text.txt --max_buckets=29 --bucket_cost=0 --output=labels_at_the_edge.html
"$bucket_report" --lengths=equal.txt --output=one_bucket.html
"$bucket_report" --text=text.txt --cell=lstm --num_hidden=16 --num_embed=16 --vocab=50 \
  --output=bucket_memory.html
"$lm_train" --train=text.txt --valid=short.txt --num_epochs=3 --num_hidden=16 --num_embed=16 \
  --checkpoint_prefix=lm >/dev/null
symbols=(lm-*-symbol.json)  # of the buckets that were chosen
length=${symbols[0]#lm-} length=${length%-symbol.json}
shapes="data:32,$length;softmax_label:32,$length"
"$plot_memory" --symbol="${symbols[0]}" --shapes="$shapes" --output=memory.html
"$plot_memory" --symbol="${symbols[0]}" --shapes="$shapes" --notraining --output=inference.html
"${programs[3]}" ctc_now.svg
"${programs[4]}" image_shapes_now.svg

python3 -B "$check" --pictures="${TEST_UNDECLARED_OUTPUTS_DIR:-.}" ./*.html ./*.svg "${files[@]}"
