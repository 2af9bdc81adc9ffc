package p;

/** Each method is executed in one loader alone. */
public class Shared {
    public static void ofTheProgram() {
        System.out.println("the program's");
    }

    public static void ofTheFirst() {
        System.out.println("the first one's");
    }

    public static void ofTheSecond() {
        System.out.println("the second one's");
    }
}
