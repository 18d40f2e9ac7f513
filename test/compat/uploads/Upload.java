import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** As upload.py: java -Dversion=HTTP_1_1 Upload.java FILE SIZES ORIGIN PATH... */
class Upload {
    static final HttpClient CLIENT = HttpClient.newBuilder()
        .version(HttpClient.Version.valueOf(System.getProperty("version"))).build();

    public static void main(String[] args) throws Exception {
        List<byte[]> pieces = pieces(Files.readAllBytes(Path.of(args[0])), args[1].split(","));
        for (String path : Arrays.asList(args).subList(3, args.length)) {
            send(path, HttpRequest.newBuilder(URI.create(args[2] + path))
                .header("Content-Type", "text/plain").POST(BodyPublishers.ofByteArrays(pieces)).build());
            send("/next", HttpRequest.newBuilder(URI.create(args[2] + "/next")).build());
        }
    }

    static List<byte[]> pieces(byte[] data, String[] sizes) {
        List<byte[]> pieces = new ArrayList<>();
        for (int at = 0, end; at < data.length; at = end) {
            end = Math.min(data.length, at + Integer.parseInt(sizes[pieces.size() % sizes.length]));
            pieces.add(Arrays.copyOfRange(data, at, end));
        }
        return pieces;
    }

    static void send(String path, HttpRequest request) throws InterruptedException {
        try {
            var response = CLIENT.send(request, BodyHandlers.ofString());
            System.out.println(response.body() + " " + response.statusCode() + " " + path);
        } catch (java.io.IOException err) {
            System.out.println(err + " failed " + path);
        }
    }
}
