// References to methods and constructors have code only at their creation.
package targets;

public class MethodReferences { // missed
    static int twice(int number) {
        return 2 * number; // covered
    }

    static int half(int number) {
        return number / 2; // missed
    }

    public static void main(String[] arguments) {
        java.util.function.IntUnaryOperator used = MethodReferences::twice; // covered
        used.applyAsInt(1); // covered
        java.util.function.IntUnaryOperator unused = MethodReferences::half; // covered
        java.util.function.Supplier<Object> made = Object::new; // covered
        made.get(); // covered
    } // covered
}
