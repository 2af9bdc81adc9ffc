import io.github.classhook.advice.*;
import java.io.IOException;

/** Repeats requests that fail. */
@Advice("Fetching#fetch")
final class Retrying {
    @Around("java.net.http.HttpClient#send")
    static Object retry(Call call) throws Throwable {
        for (int tries = 0;; tries++)
            try { return call.proceed(); } catch (IOException e) { if (tries == 2) throw e; }
    }
}
