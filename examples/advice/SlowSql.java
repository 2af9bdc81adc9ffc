import io.github.classhook.advice.Advice;
import io.github.classhook.advice.AllArguments;
import io.github.classhook.advice.FromEntry;
import io.github.classhook.advice.OnEntry;
import io.github.classhook.advice.OnExit;
import io.github.classhook.advice.Setting;
import io.github.classhook.advice.This;
import io.github.classhook.advice.Thrown;

/** Prints statements of JDBC drivers that take longer than {@code millis}. */
@Advice({
    "<:java.sql.Statement#execute*",
    "<:java.sql.PreparedStatement#execute*",
    "<:java.sql.CallableStatement#execute*"
})
final class SlowSql {
    @Setting static int millis = 50;

    @OnEntry
    static long start() {
        return System.nanoTime();
    }

    @OnExit
    static void end(@FromEntry long start, @AllArguments Object[] arguments, @This Object self, @Thrown Throwable thrown) {
        long took = (System.nanoTime() - start) / 1_000_000;
        if (took >= millis) {
            Object sql = arguments.length > 0 ? arguments[0] : self;
            System.err.println(took + " ms: " + sql + (thrown == null ? "" : ", " + thrown));
        }
    }
}
