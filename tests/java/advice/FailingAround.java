import io.github.classhook.advice.*;

/** Throws around calls. */
@Advice("Till#pay")
class FailingAround {
    @Around("Till#label")
    static Object before(Call call) {
        throw new IllegalStateException("has not proceeded");
    }

    @Around("Till#count")
    static Object after(Call call) throws Throwable {
        call.proceed();
        throw new IllegalStateException("has proceeded");
    }

    @Around("Till#flaky")
    static Object hides(Call call) throws Throwable {
        try {
            return call.proceed();
        } catch (java.io.IOException failed) {
            throw new IllegalStateException("hides " + failed.getMessage());
        }
    }

    @Around("Till#net")
    static Object wrong(Call call) throws Throwable {
        return call.proceed("no number");
    }

    @Around(value = "java.lang.Math#max", rethrow = true)
    static double passes(Call call) throws Throwable {
        return (Double) call.proceed() + 1;
    }
}
