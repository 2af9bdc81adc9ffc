/** A switch over an enum of another class, whose cases the compiler numbers in a class of their own. */
public class Switched {
    static String name(Colour colour) {
        switch (colour) {
            case RED:
                return "red";
            case GREEN:
                return "green";
            default:
                return "other";
        }
    }

    public static String answer() {
        StringBuilder text = new StringBuilder();
        for (Colour colour : Colour.values()) {
            text.append(name(colour)).append(' ');
        }
        return text.toString().trim();
    }
}

enum Colour { RED, GREEN, BLUE, WHITE }
