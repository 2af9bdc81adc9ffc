/** A base class, one that extends it and one with an annotation, each with calls of its own. */
public class Selected {
    @interface Marked {
    }

    static class Base {
        int f(int number) {
            return number;
        }
    }

    static class Derived extends Base {
        int g(int number) {
            return f(number);
        }
    }

    @Marked
    static class Annotated {
        int h(int number) {
            return number;
        }
    }

    static int turns() {
        Base base = new Base();
        Derived derived = new Derived();
        Annotated annotated = new Annotated();
        int sum = 0;
        for (int turn = 0; turn < 10; turn++) {
            sum += base.f(turn) + derived.g(turn);
            for (int again = 0; again < 3; again++) {
                sum += annotated.h(turn);
            }
        }
        return sum;
    }

    /** With an argument, it goes on until its input has a line. */
    public static void main(String[] arguments) throws Exception {
        int sum = turns();
        if (arguments.length == 0) {
            System.out.println("sum " + sum);
            return;
        }
        System.out.println("ready");
        while (System.in.available() == 0) {
            turns();
            Thread.sleep(1);
        }
        System.out.println("end");
    }
}
