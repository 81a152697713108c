#include "io/buckets/bucket_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "ndarray/random/random.h"

namespace cooper {
namespace {

constexpr int kDisturbances = 16;

int MostBuckets(const BucketProblem& problem) {
  return static_cast<int>(std::min<size_t>(problem.max_buckets, problem.costs.size()));
}

// Returns the choice of a single bucket that holds all samples, with an infinite cost. It stays the
// best choice if sums overflow and costs cannot be compared.
ChosenCandidates OneForAll(const BucketProblem& problem) {
  const auto all = std::find_if(problem.held.begin(), problem.held.end(), [&](const auto& held) {
    return held.size() == problem.counts.size();
  });
  return {.candidates = {static_cast<int>(all - problem.held.begin())},
          .cost = std::numeric_limits<double>::infinity()};
}

// Returns the cost of a sample that no bucket holds: more than that of all samples in the most
// costly bucket.
double Unheld(const BucketProblem& problem) {
  const double dearest = *std::max_element(problem.costs.begin(), problem.costs.end());
  return (dearest + 1) * (1 + std::accumulate(problem.counts.begin(), problem.counts.end(), 0.0));
}

double CostOfSamples(const BucketProblem& problem, const std::vector<double>& costs) {
  return std::inner_product(costs.begin(), costs.end(), problem.counts.begin(), 0.0);
}

class AllSets {
 public:
  explicit AllSets(const BucketProblem& problem)
      : problem_(problem),
        max_buckets_(MostBuckets(problem)),
        costs_(max_buckets_ + 1, std::vector<double>(problem.counts.size(), Unheld(problem))),
        best_(OneForAll(problem)) {
    Extend(0);
  }
  const ChosenCandidates& best() const { return best_; }

 private:
  // Tries each larger set that extends the chosen one by candidates from `first` on.
  void Extend(int first) {
    const size_t size = chosen_.size();
    if (static_cast<int>(size) == max_buckets_) return;
    for (int c = first; c < static_cast<int>(problem_.costs.size()); ++c) {
      chosen_.push_back(c);
      std::vector<double>& costs = costs_[size + 1];
      costs = costs_[size];
      for (const int sample : problem_.held[c]) {
        costs[sample] = std::min(costs[sample], problem_.costs[c]);
      }
      const double cost = CostOfSamples(problem_, costs) +
                          problem_.bucket_cost * static_cast<double>(chosen_.size());
      if (cost < best_.cost) best_ = {.candidates = chosen_, .cost = cost};
      Extend(c + 1);
      chosen_.pop_back();
    }
  }

  const BucketProblem& problem_;
  const int max_buckets_;
  std::vector<int> chosen_;
  std::vector<std::vector<double>> costs_;  // by number of buckets and sample
  ChosenCandidates best_;
};

class Exchange {
 public:
  explicit Exchange(const BucketProblem& problem)
      : problem_(problem),
        unheld_(Unheld(problem)),
        is_chosen_(problem.costs.size()),
        best_(OneForAll(problem)) {
    Update();
    constexpr int kFurther = 2;  // buckets than the best number, to come back from
    const auto most = std::min<size_t>(MostBuckets(problem) + kFurther, problem.costs.size());
    while (chosen_.size() < std::min(most, best_.candidates.size() + kFurther) && Add()) {
    }
    while (chosen_.size() > 1) Remove();
    RandomGenerator random(1);
    for (int i = 0; i < kDisturbances && best_.candidates.size() > 1; ++i) Disturb(random);
  }
  const ChosenCandidates& best() const { return best_; }

 private:
  // Recomputes the costs of the samples and the losses of the chosen buckets, and keeps the best
  // choice.
  void Update() {
    const size_t n = problem_.counts.size();
    cheapest_.assign(n, unheld_);
    second_.assign(n, unheld_);
    owner_.assign(n, 0);
    for (int b = 0; b < static_cast<int>(chosen_.size()); ++b) {
      const double cost = problem_.costs[chosen_[b]];
      for (const int sample : problem_.held[chosen_[b]]) {
        if (cost < cheapest_[sample]) {
          second_[sample] = cheapest_[sample];
          cheapest_[sample] = cost;
          owner_[sample] = b;
        } else if (cost < second_[sample]) {
          second_[sample] = cost;
        }
      }
    }
    loss_.assign(chosen_.size(), 0);
    for (size_t i = 0; i < n && !chosen_.empty(); ++i) {
      loss_[owner_[i]] += problem_.counts[i] * (second_[i] - cheapest_[i]);
    }
    cost_ = CostOfSamples(problem_, cheapest_);
    const double cost = cost_ + problem_.bucket_cost * static_cast<double>(chosen_.size());
    if (chosen_.empty() || static_cast<int>(chosen_.size()) > problem_.max_buckets ||
        cost >= best_.cost) {
      return;
    }
    best_ = {.candidates = chosen_, .cost = cost};
    std::sort(best_.candidates.begin(), best_.candidates.end());
  }

  // Returns how much the cost of all samples falls if candidate `c` joins the chosen buckets.
  // losses[b], the rise of the cost if bucket b were removed, falls by the samples that would then
  // go to `c`.
  double Gain(int c, std::vector<double>* losses) const {
    const double cost = problem_.costs[c];
    double gain = 0;
    for (const int i : problem_.held[c]) {
      if (cost >= second_[i]) continue;
      double missed_less = second_[i] - cost;
      if (cost < cheapest_[i]) {
        gain += problem_.counts[i] * (cheapest_[i] - cost);
        missed_less = second_[i] - cheapest_[i];
      }
      if (losses != nullptr) (*losses)[owner_[i]] -= problem_.counts[i] * missed_less;
    }
    return gain;
  }

  // Adds the bucket that saves most; returns false if none saves anything.
  bool Add() {
    int best = -1;
    double best_gain = 0;
    for (int c = 0; c < static_cast<int>(problem_.costs.size()); ++c) {
      if (is_chosen_[c]) continue;
      const double gain = Gain(c, nullptr);
      if (gain <= best_gain) continue;
      best_gain = gain;
      best = c;
    }
    if (best < 0) return false;
    chosen_.push_back(best);
    is_chosen_[best] = true;
    Update();
    ExchangeAll();
    return true;
  }

  void Remove() {
    const auto b = std::min_element(loss_.begin(), loss_.end()) - loss_.begin();
    is_chosen_[chosen_[b]] = false;
    chosen_.erase(chosen_.begin() + b);
    Update();
    ExchangeAll();
  }

  // Restarts from the best choice with two of its buckets replaced at random.
  void Disturb(RandomGenerator& random) {
    chosen_ = best_.candidates;
    for (int i = 0; i < 2; ++i) {
      is_chosen_.assign(is_chosen_.size(), false);
      for (const int c : chosen_) is_chosen_[c] = true;
      const auto c = static_cast<int>(random.NextBelow(is_chosen_.size()));
      if (!is_chosen_[c]) chosen_[random.NextBelow(chosen_.size())] = c;
    }
    is_chosen_.assign(is_chosen_.size(), false);
    for (const int c : chosen_) is_chosen_[c] = true;
    Update();
    ExchangeAll();
  }

  void ExchangeAll() {
    while (ExchangeOnce()) {
    }
  }

  // Tries each candidate once in place of a chosen bucket; returns false if that saved nothing.
  bool ExchangeOnce() {
    bool any = false;
    std::vector<double> losses;
    for (int c = 0; c < static_cast<int>(problem_.costs.size()); ++c) {
      if (is_chosen_[c]) continue;
      losses = loss_;
      const double gain = Gain(c, &losses);
      const auto least = std::min_element(losses.begin(), losses.end());
      // The saving must exceed rounding errors. The negation also skips NaN, from sums that
      // overflow.
      if (!(gain - *least > 1e-12 * cost_)) continue;
      int& replaced = chosen_[least - losses.begin()];
      is_chosen_[replaced] = false;
      is_chosen_[c] = true;
      replaced = c;
      Update();
      any = true;
    }
    return any;
  }

  const BucketProblem& problem_;
  const double unheld_;
  std::vector<int> chosen_;
  std::vector<char> is_chosen_;            // by candidate
  std::vector<double> cheapest_, second_;  // by sample: costs in chosen buckets
  std::vector<int> owner_;                 // by sample: the position of the cheapest in chosen_
  std::vector<double> loss_;  // by chosen bucket: what its samples cost more without it
  double cost_ = 0;           // of all samples
  ChosenCandidates best_;
};

}  // namespace

double ExhaustiveSearchSteps(const BucketProblem& problem) {
  const auto candidates = static_cast<double>(problem.costs.size());
  double sets = 0, of_size = 1;
  for (int k = 0; k < problem.max_buckets && k < candidates; ++k) {
    of_size *= (candidates - k) / (k + 1);
    sets += of_size;
  }
  return sets * static_cast<double>(problem.counts.size());
}

ChosenCandidates SearchExhaustively(const BucketProblem& problem) {
  return AllSets(problem).best();
}

ChosenCandidates ExchangeBuckets(const BucketProblem& problem) { return Exchange(problem).best(); }

}  // namespace cooper
