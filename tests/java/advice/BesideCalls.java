import io.github.classhook.advice.*;

/** Runs before and behind calls, replaces operands and results, and skips calls. */
@Advice("Till#pay")
class BesideCalls {
    @BeforeCall("Till#label")
    @ReplaceOperand(1)
    static int more(@Operand(1) int number, @Operand(0) String text) {
        return number + text.length() * 10;
    }

    @AfterCall("Till#label")
    @ReplaceReturned
    static String longer(@Returned String text) {
        return text + "+";
    }

    @BeforeCall(value = "Till#net", skipIf = SkipIf.NOT_NULL)
    static Long known(@Operand(0) Object self, @Operand(1) long amount, @Field("drawer") int drawer) {
        return amount + drawer;
    }

    @BeforeCall(value = "Till#count", skipIf = SkipIf.TRUE)
    static boolean skip() {
        return true;
    }

    @AfterCall("Till#*")
    static void seen(@Called String called, @Returned Object returned, @Line int line, @This Till self, @Argument(0) long amount) {
        System.out.println("seen " + called + " " + returned + " " + line + " " + amount);
    }

    @BeforeCall("Till#flaky")
    static void failing(@Method String method) {
        throw new IllegalStateException("in " + method);
    }
}
