# The use of 100 homes in each quarter of an hour. One reading is protected; none is above 5 kWh.
brume release meters.csv --every 15m --time time --value kwh --of sum --max 5 \
  --epsilon 1 --zone Europe/Berlin --from 2026-03-02T00:00+01:00 --to 2026-03-05T00:00+01:00
