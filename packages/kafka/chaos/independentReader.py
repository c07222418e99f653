"""An independent reader: librdkafka, read_committed. Prints records and a hash of each partition, as JSON."""
import hashlib, json, sys
from confluent_kafka import Consumer, TopicPartition

brokers, topic, partitions = sys.argv[1], sys.argv[2], int(sys.argv[3])
result = []
for partition in range(partitions):
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "independent", "enable.auto.commit": False,
                         "isolation.level": "read_committed", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, partition, 0)])
    digest, count = hashlib.sha256(), 0
    while True:
        message = consumer.poll(30)
        if message is None:
            sys.exit("no end of the partition within 30 s")
        if message.error():
            break  # the end of the partition
        digest.update(message.offset().to_bytes(8, "big") + message.key() + message.value())
        count += 1
    consumer.close()
    result.append([count, digest.hexdigest()])
print(json.dumps(result))
