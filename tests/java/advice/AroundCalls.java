import io.github.classhook.advice.*;
import java.io.IOException;
import java.util.Arrays;

/** Runs in place of calls. */
@Advice("Till#pay")
class AroundCalls {
    @Around("Till#flaky")
    static Object retry(Call call) throws Throwable {
        for (int tries = 0;; tries++) {
            try {
                return call.proceed();
            } catch (IOException e) {
                if (tries == 2) throw e;
            }
        }
    }

    @Around({"Till#net", "Till$Tax#of", "java.lang.Math#max"})
    static Object shown(@Line int line, Call call, @Called String called) throws Throwable {
        Object result = call.proceed();
        System.out.println(call + " " + call.name() + call.descriptor() + " " + Arrays.toString(call.arguments()) + " " + result + " " + line + " " + called);
        return result;
    }

    @Around("Till#label")
    static String other(Call call) throws Throwable {
        return call.target() + " " + call.proceed("b", 4);
    }

    @Around("Till#count")
    static void twice(Call call) throws Throwable {
        call.proceed();
        call.proceed(5);
    }
}
