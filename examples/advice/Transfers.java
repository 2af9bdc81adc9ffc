import io.github.classhook.advice.Advice;
import io.github.classhook.advice.Argument;
import io.github.classhook.advice.Method;
import io.github.classhook.advice.OnExit;
import io.github.classhook.advice.Setting;
import io.github.classhook.advice.Thrown;

/** Prints the large transfers of the example bank, and those that fail. */
@Advice("bank.Bank#transfer")
final class Transfers {
    @Setting static long large = 500_00;

    @OnExit
    static void end(@Method String method, @Argument(0) String from, @Argument(1) String to, @Argument(2) long cents,
            @Thrown Throwable thrown) {
        if (cents >= large || thrown != null) {
            System.out.println(method + ": " + from + " to " + to + ", " + cents + " cents, " + (thrown == null ? "done" : thrown.getMessage()));
        }
    }
}
