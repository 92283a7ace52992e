#!/usr/bin/env python3
"""Leaves each N-th mutant of a session of cosmic-ray, from the I-th on: sample.py SESSION I/N."""

import sqlite3
import sys


def main(session, part):
    at, of = map(int, part.split("/"))
    with sqlite3.connect(session) as database:
        left = database.execute(
            "SELECT job_id FROM mutation_specs WHERE job_id NOT IN (SELECT job_id FROM work_results)"
            " ORDER BY start_pos_row, start_pos_col, operator_name, occurrence, operator_args"
        ).fetchall()
        skipped = [job for number, (job,) in enumerate(left) if number % of != at]
        database.executemany("INSERT INTO work_results (job_id, worker_outcome) VALUES (?, 'SKIPPED')", [(job,) for job in skipped])


if __name__ == "__main__":
    main(*sys.argv[1:])
