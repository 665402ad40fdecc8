-- one row per (run, benchmark, language, protocol, reference, domain, style, metric): paired differences between runs
select
    run, model, date, benchmark, language, protocol, reference, domain, style, metric, family, value, ci_low,
    ci_high, effect, p_value, p_adjusted, n, here, there, coverage, bound_low, bound_high, gate, differs,
    metrics_version
from files.changes
