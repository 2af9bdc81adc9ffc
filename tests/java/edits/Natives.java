/** Native methods that are found under their own name although calls use another. */
public class Natives {
    static native int twice(int number);

    native long plus(long number, Object unused);

    static native int missing();

    static final StringBuilder SEEN = new StringBuilder();

    static void saw(String what) {
        SEEN.append(what).append(' ');
    }

    public static void main(String[] arguments) {
        System.load(arguments[0]);
        System.out.println(twice(21));
        System.out.println(new Natives().plus(40, null));
        try {
            missing();
        } catch (UnsatisfiedLinkError expected) {
            System.out.println("no such native");
        }
        System.out.println(SEEN);
        for (var method : Natives.class.getDeclaredMethods()) {
            if (java.lang.reflect.Modifier.isNative(method.getModifiers())) {
                System.out.println(method.getName().startsWith("$$wrapped$$"));
            }
        }
    }
}
