-- one row per (run, benchmark, language, protocol, versus, domain, metric): paired differences within a run
select
    run, model, date, benchmark, language, protocol, versus, domain, metric, value, ci_low, ci_high, p_value, n, here,
    there, metrics_version
from files.comparisons
