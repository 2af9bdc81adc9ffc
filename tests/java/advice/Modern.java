import io.github.classhook.advice.*;
import java.util.function.Supplier;

/** Uses what newer compilers translate to dynamic calls and nest mates: a record, a lambda, a concatenation, a private nested class. */
@Advice("Shop#half")
final class Modern {
    record Slow(String method, double value) {}

    private static final class Hidden {
        private int count;
    }

    private static final Hidden HIDDEN = new Hidden();

    @OnExit
    static void leave(@Method String method, @Returned double value) {
        HIDDEN.count++;
        Supplier<String> text = () -> "slow " + new Slow(method, value) + " " + HIDDEN.count;
        System.out.println(text.get());
    }
}
