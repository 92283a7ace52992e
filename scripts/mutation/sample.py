#!/usr/bin/env python3
"""Each N-th mutant, from the I-th on. As a program it leaves those in a session of cosmic-ray: sample.py SESSION I/N."""

import sqlite3
import sys


def taken(number, part):
    at, of = map(int, part.split("/"))
    return number % of == at


def main(session, part):
    with sqlite3.connect(session) as database:
        left = database.execute(
            "SELECT job_id FROM mutation_specs WHERE job_id NOT IN (SELECT job_id FROM work_results)"
            " ORDER BY start_pos_row, start_pos_col, operator_name, occurrence, operator_args"
        ).fetchall()
        skipped = [job for number, (job,) in enumerate(left) if not taken(number, part)]
        database.executemany("INSERT INTO work_results (job_id, worker_outcome) VALUES (?, 'SKIPPED')", [(job,) for job in skipped])


if __name__ == "__main__":
    main(*sys.argv[1:])
