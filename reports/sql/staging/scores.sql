-- one row per (run, served_model, benchmark, language, protocol, domain, style, typed, metric)
select
    run, model, served_model, date, benchmark, language, protocol, domain, style, typed, metric, value,
    ci_low, ci_high, n, coverage, metrics_version
from files.scores
