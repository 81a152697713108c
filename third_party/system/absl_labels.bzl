"""Upstream's label of each Abseil target that cooper uses: package -> targets.

Add a target here before its first use. T stands for Debian's absl_T.pc, and T=P for absl_P.pc.
Debian's 20220623 has no absl/log (glog is used instead), and its absl::string_view is not
std::string_view: convert by (data, size), and never overload on both.
"""

ABSL_LABELS = {
    "algorithm": ["algorithm", "container=algorithm_container"],
    "base": ["base", "config", "core_headers", "log_severity"],
    "cleanup": ["cleanup"],
    "container": [
        "btree",
        "fixed_array",
        "flat_hash_map",
        "flat_hash_set",
        "inlined_vector",
        "node_hash_map",
    ],
    "debugging": ["failure_signal_handler", "stacktrace", "symbolize"],
    "flags": [
        "commandlineflag=flags_commandlineflag",
        "config=flags_config",
        "flag=flags",
        "parse=flags_parse",
        "reflection=flags_reflection",
        "usage=flags_usage",
    ],
    "functional": ["any_invocable", "bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": [
        "bit_gen_ref=random_bit_gen_ref",
        "distributions=random_distributions",
        "random=random_random",
    ],
    "status": ["status", "statusor"],
    "strings": ["cord", "str_format", "strings"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": ["span"],
    "utility": ["utility"],
}
