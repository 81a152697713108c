"""The commands with which Bazel compiles and links CUDA code, so that scripts can run them with other flags and files.

They run in Bazel's execution root, `Commands.directory`; what they read must have been built before.
"""

import json
import os
import re
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
BAZEL = [os.environ.get("BAZEL", os.path.join(ROOT, "bazelw")), *os.environ.get("STARTUP", "").split()]


def bazel(*args, **kwargs):
    """Runs Bazel and returns its output."""
    run = subprocess.run([*BAZEL, *args], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, **kwargs)
    return run.stdout


def without_codes(arguments):
    """Returns the `arguments` of nvcc without those that select the code to generate."""
    return [a for a in arguments if not a.startswith("--generate-code") and a != "--no-compress"]


class Commands:
    """The commands that Bazel would run for the targets of a query expression.

    compiles: path of a source, from the root -> the arguments that compile it and the object's path
    links: label of a program -> the arguments that link it
    """

    def __init__(self, expression, flags):
        self.directory = bazel("info", "execution_root").strip()
        self._external = os.path.join(bazel("info", "output_base").strip(), "external")
        query = 'mnemonic("CudaCompile|CppCompile|CppLink", %s)' % expression
        graph = json.loads(bazel("aquery", query, "--output=jsonproto", "--noshow_progress", *flags))
        labels = {target["id"]: target["label"] for target in graph["targets"]}
        self.compiles, self.links = {}, {}
        for action in graph["actions"]:
            arguments = [self.absolute(a) for a in action["arguments"]]
            if action["mnemonic"] == "CppLink":
                if "-o" in arguments:  # what a file of parameters has is here, too
                    arguments = [a for a in arguments if not a.startswith("@")]
                if "-shared" not in arguments:
                    self.links[labels[action["targetId"]]] = arguments
                continue
            source = self._source(arguments, action["mnemonic"])
            if source is not None:
                self.compiles[source] = (arguments, arguments[arguments.index("-o") + 1])

    @staticmethod
    def _source(arguments, mnemonic):
        """Returns the source of a compile command, or None if it is not cooper's own."""
        at = arguments.index("-o") - 1 if mnemonic == "CudaCompile" else arguments.index("-c") + 1
        # With --config=cuda_host a generated source includes the .cu file.
        source = re.sub(r"^bazel-out/[^/]+/bin/(.*)/_cuda_host/[^/]+/(\w+)\.cc$", r"\1/\2.cu", arguments[at])
        return source if os.path.exists(os.path.join(ROOT, source)) and not os.path.isabs(source) else None

    def absolute(self, word):
        """Returns a word in which folders of other repositories, and the source tree, have absolute paths instead of
        links in the execution root, which the next build may remove."""
        word = re.sub(r"^(-I|-isystem |-iquote |-L|)external/", lambda m: m.group(1) + self._external + "/", word)
        return "-I" + ROOT if word == "-I." else ROOT if word == "." else word
