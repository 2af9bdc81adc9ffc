import java.io.ObjectStreamClass;
import java.io.Serializable;

/** Class files that any version from 45 on may hold: no lambdas, no interfaces with methods. */
public class Versions implements Serializable {
    private static final Object FIRST = make("static initialiser");
    int value = Numbers.LIMIT;

    static Object make(String text) {
        System.out.println(text);
        return text;
    }

    static int choose(int number) {
        try {
            switch (number) {
                case 0:
                    return 10 / number;
                case 1:
                    return Numbers.TABLE.length;
                default:
                    return number > Numbers.LIMIT ? 1 : 2;
            }
        } catch (ArithmeticException caught) {
            return -1;
        }
    }

    /** An interface with a static initialiser that branches. */
    interface Numbers {
        int LIMIT = Integer.getInteger("limit", 3).intValue() > 2 ? 3 : 4;
        int[] TABLE = new int[LIMIT];
    }

    public static void main(String[] arguments) {
        for (int number = 0; number < 5; number++) {
            System.out.println(choose(number));
        }
        System.out.println(new Versions().value + " " + FIRST);
        System.out.println(ObjectStreamClass.lookup(new Versions().getClass()).getSerialVersionUID());
        int visible = 0;
        for (java.lang.reflect.Method method : new Versions().getClass().getDeclaredMethods()) {
            visible += 1 - (method.getModifiers() >> 12 & 1); // synthetic ones are not counted, without a branch
        }
        System.out.println(visible + " methods");
    }
}
