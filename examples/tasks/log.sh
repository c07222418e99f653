# Requests of each hour, and how long half and 95 % of them took at most, from a log in NDJSON. None takes over a minute.
brume release access.ndjson --every 1h --time ts --value took.ms --edges 1:60000 \
  --epsilon 1 --zone Europe/Berlin --from 2026-03-02T00:00+01:00 --to 2026-03-03T00:00+01:00
