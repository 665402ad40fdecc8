-- one row per (run, benchmark, language, protocol, domain, rater, versus): how far two readers of a run's texts agree
select
    run, model, date, benchmark, language, protocol, domain, rater, versus, kappa, ci_low, ci_high, agreement,
    n, metrics_version
from files.agreement
