# The mean basket of each shop and day, from a CSV file. No basket is above 1,000 EUR.
brume release orders.csv --every 1d --time time --value basket --of mean --max 1000 \
  --group-by shop --keys berlin,paris,oslo --epsilon 1 --zone Europe/Berlin \
  --from 2026-03-02T00:00+01:00 --to 2026-03-09T00:00+01:00
