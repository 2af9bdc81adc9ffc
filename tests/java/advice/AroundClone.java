import io.github.classhook.advice.*;

/** Is around a call that reflection cannot make from a program's class, since Java 16. */
@Advice("Copied#copy")
class AroundClone {
    @Around("java.lang.Object#clone")
    static Object around(Call call) throws Throwable {
        System.out.println("around");
        return call.proceed();
    }
}
