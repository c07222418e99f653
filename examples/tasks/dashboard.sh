# A picture of the day, from a log, in one command.
brume release access.ndjson --every 1h --time ts --epsilon 1 --zone Europe/Berlin \
  --from 2026-03-02T00:00+01:00 --to 2026-03-03T00:00+01:00 --plot
