# The use of 100 homes in each day. All readings of a home and day are protected; no home uses more than 40 kWh a day.
brume release meters.csv --every 1d --time time --value kwh --of sum --max 5 \
  --person meter --per-person sum:40 \
  --epsilon 1 --zone Europe/Berlin --from 2026-03-02T00:00+01:00 --to 2026-03-05T00:00+01:00
