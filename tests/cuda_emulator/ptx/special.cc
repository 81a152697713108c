#include "tests/cuda_emulator/ptx/special.h"

#include <optional>
#include <string_view>

namespace cooper::ptx {
namespace {

struct Named {
  std::string_view name;
  Special special;
};

constexpr Named kSpecials[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneid},
    {"%warpid", Special::kWarpid},
    {"%nwarpid", Special::kNwarpid},
    {"%lanemask_eq", Special::kLanemaskEq},
    {"%lanemask_lt", Special::kLanemaskLt},
    {"%lanemask_le", Special::kLanemaskLe},
    {"%lanemask_gt", Special::kLanemaskGt},
    {"%lanemask_ge", Special::kLanemaskGe},
    {"%smid", Special::kSmid},
    {"%nsmid", Special::kNsmid},
    {"%gridid", Special::kGridid},
    {"%dynamic_smem_size", Special::kDynamicSharedBytes},
    {"%total_smem_size", Special::kTotalSharedBytes},
    {"%cluster_ctarank", Special::kClusterRank},
    {"%cluster_ctaid.x", Special::kClusterRank},
    {"%cluster_ctaid.y", Special::kClusterRank},
    {"%cluster_ctaid.z", Special::kClusterRank},
    {"%cluster_nctarank", Special::kClusterSize},
    {"%cluster_nctaid.x", Special::kClusterSize},
    {"%cluster_nctaid.y", Special::kClusterSize},
    {"%cluster_nctaid.z", Special::kClusterSize},
    {"%clusterid.x", Special::kCtaidX},
    {"%clusterid.y", Special::kCtaidY},
    {"%clusterid.z", Special::kCtaidZ},
    {"%nclusterid.x", Special::kNctaidX},
    {"%nclusterid.y", Special::kNctaidY},
    {"%nclusterid.z", Special::kNctaidZ},
    {"%is_explicit_cluster", Special::kClusterRank},
    {"%clock", Special::kClock},
    {"%clock_hi", Special::kClockHi},
    {"%clock64", Special::kClock64},
    {"%globaltimer", Special::kGlobaltimer},
    {"%globaltimer_lo", Special::kGlobaltimerLo},
    {"%globaltimer_hi", Special::kGlobaltimerHi},
};

}  // namespace

std::optional<Special> SpecialOfName(std::string_view name) {
  for (const Named& named : kSpecials) {
    if (named.name == name) return named.special;
  }
  return std::nullopt;
}

int SizeOf(Special special) {
  const bool wide = special == Special::kClock64 || special == Special::kGlobaltimer ||
                    special == Special::kGridid;
  return wide ? 8 : 4;
}

bool IsClock(Special special) { return special >= Special::kClock; }

}  // namespace cooper::ptx
