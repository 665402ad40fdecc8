-- one row per (run, benchmark, language, protocol, versus): what a mitigation did to the lean of all choice groups
select
    run, model, date, benchmark, language, protocol, versus, verdict, reasons, metrics_version
from files.mitigations
