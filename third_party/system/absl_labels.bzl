"""Upstream's label for each Abseil target that cooper uses: package -> targets.

A target T here is absl_T in Debian's pkg-config files, T=P is absl_P. Add a
line before using a new one; what upstream has and Debian's 20220623 lacks (absl/log,
absl/log:check, absl/strings:string_view as an own target) must not be used.
"""

ABSL_LABELS = {
    "algorithm": ["algorithm", "container=algorithm_container"],
    "base": ["base", "core_headers", "log_severity"],
    "cleanup": ["cleanup"],
    "container": ["btree", "fixed_array", "flat_hash_map", "flat_hash_set", "inlined_vector", "node_hash_map"],
    "debugging": ["failure_signal_handler", "stacktrace", "symbolize"],
    "flags": ["flag=flags", "parse=flags_parse", "usage=flags_usage"],
    "functional": ["any_invocable", "bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": ["bit_gen_ref=random_bit_gen_ref", "distributions=random_distributions", "random=random_random"],
    "status": ["status", "statusor"],
    "strings": ["cord", "str_format", "strings"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": ["span"],
    "utility": ["utility"],
}
