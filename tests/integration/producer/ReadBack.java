// Prints every record of a topic as Kafka's own consumer reads it: one line each, bytes in hexadecimal, "-" for null.
// Run by test_real_kafka.py with Java's source launcher: ReadBack.java BOOTSTRAP TOPIC ISOLATION_LEVEL
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class ReadBack {
    public static void main(String[] arguments) {
        Properties options = new Properties();
        options.put("bootstrap.servers", arguments[0]);
        options.put("isolation.level", arguments[2]);
        var bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(options, bytes, bytes)) {
            List<TopicPartition> partitions = consumer.partitionsFor(arguments[1]).stream()
                .map(info -> new TopicPartition(info.topic(), info.partition())).collect(Collectors.toList());
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            var ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                consumer.poll(Duration.ofMillis(200)).forEach(ReadBack::print);
            }
        }
    }

    private static void print(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder line = new StringBuilder();
        line.append(record.partition()).append(' ').append(record.offset()).append(' ').append(record.timestamp());
        line.append(' ').append(hex(record.key())).append(' ').append(hex(record.value()));
        for (Header header : record.headers()) {
            line.append(' ').append(hex(header.key().getBytes(java.nio.charset.StandardCharsets.UTF_8)));
            line.append('=').append(hex(header.value()));
        }
        System.out.println(line);
    }

    private static String hex(byte[] data) {
        return data == null ? "-" : "x" + HexFormat.of().formatHex(data);
    }
}
