-- one row per (run, benchmark, language, protocol, domain, target, rater, measure): how texts about men and women differ
select
    run, model, date, benchmark, language, protocol, domain, target, rater, measure, woman, man, value, ci_low,
    ci_high, p_value, p_adjusted, n, n_woman, n_man, metrics_version
from files.gaps
