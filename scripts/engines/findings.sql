-- What stands in the lines of `check --output ndjson`: `lines` has a row for each recording, `findings` one for each finding.
-- DuckDB, run where the lines are in findings/*.ndjson. Parquet keeps both for any other engine.

CREATE OR REPLACE VIEW lines AS
SELECT * FROM read_ndjson('findings/*.ndjson', maximum_object_size = 268435456, columns = {
    file: 'VARCHAR', digest: 'VARCHAR', format: 'VARCHAR', revision: 'VARCHAR', messages: 'UBIGINT', failed: 'BOOLEAN',
    totals: 'STRUCT(errors UBIGINT, warnings UBIGINT, notes UBIGINT)', limits: 'VARCHAR[]', findings: 'JSON[]',
    problem: 'VARCHAR', version: 'VARCHAR', options: 'VARCHAR'
});

CREATE OR REPLACE VIEW findings AS
SELECT
    digest,
    finding ->> 'file' AS file,
    finding ->> 'rule' AS rule,
    finding ->> 'verdict' AS verdict,
    finding ->> 'level' AS level,
    finding ->> 'party' AS party,
    CAST(finding ->> 'line' AS UBIGINT) AS line,
    finding ->> 'pointer' AS pointer,
    finding ->> 'message' AS message,
    1 + coalesce(CAST(finding ->> 'more' AS UBIGINT), 0) AS times
FROM (SELECT digest, unnest(findings) AS finding FROM lines);

COPY (SELECT * EXCLUDE (findings) FROM lines) TO 'recordings.parquet' (FORMAT parquet);
COPY findings TO 'findings.parquet' (FORMAT parquet);
