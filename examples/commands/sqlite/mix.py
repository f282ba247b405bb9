"""Inserts rows into SQLite and queries them; prints the time as JSON, and the answers."""

import json
import os
import sqlite3
import sys
import tempfile
import time


def row(i):
    return (i, (i * 7919) % 1000, f"name {i % 97}", (i * 31 % 1013) / 8)


def answers_of(rows):
    return sum(row(i)[3] for i in range(rows) if row(i)[1] < 25)


if sys.argv[1] == "--expected":
    print("answer", answers_of(int(sys.argv[2])))
    sys.exit()

rows, page_size, cache_kib, journal, batch, indexed = sys.argv[1:]
rows, batch = int(rows), int(batch)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "data.db")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"pragma page_size = {int(page_size)}")
    db.execute(f"pragma cache_size = -{int(cache_kib)}")
    db.execute(f"pragma journal_mode = {journal}")
    db.execute("create table t (id integer primary key, kind integer, name text, value real)")
    if indexed == "1":
        db.execute("create index of_kind on t (kind)")
    start = time.perf_counter()
    for first in range(0, rows, batch):
        db.execute("begin")
        db.executemany("insert into t values (?, ?, ?, ?)", map(row, range(first, min(first + batch, rows))))
        db.execute("commit")
    answer = sum(db.execute("select coalesce(sum(value), 0) from t where kind = ?", (k,)).fetchone()[0] for k in range(25))
    seconds = time.perf_counter() - start
    db.close()
    size = os.path.getsize(path)
print("answer", answer)
print(json.dumps({"seconds": seconds, "rows_per_s": rows / seconds, "file_bytes": size}))
