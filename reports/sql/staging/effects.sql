-- one row per (run, benchmark, language, protocol, versus, domain, metric): paired differences that a mitigation makes
select
    run, model, date, benchmark, language, protocol, versus, domain, metric, family, value, ci_low, ci_high, p_value,
    p_adjusted, n, here, here_low, here_high, there, there_low, there_high, metrics_version
from files.effects
