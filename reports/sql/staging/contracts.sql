-- one row per expectation (suite, position) of the last validation
select
    suite, position, expectation, "column", success, "rows", unexpected, keys
from files.contracts
