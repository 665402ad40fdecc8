-- one row per (run, benchmark, language, protocol, versus, domain, metric): paired differences that a mitigation makes
select
    run, model, date, benchmark, language, protocol, versus, domain, metric, value, ci_low, ci_high, p_value,
    p_adjusted, n, here, there, metrics_version
from files.effects
