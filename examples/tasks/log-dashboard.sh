# A dashboard of a log, in one command: http://127.0.0.1:8787/ has the hours of its day, and goes on from now.
brume serve --config log-dashboard.json --import access.ndjson --time ts --value took.ms \
  --from 2026-03-02T00:00+01:00 --to 2026-03-03T00:00+01:00
