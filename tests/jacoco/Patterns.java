// Patterns in switches and instanceof. Since release 21.

class Patterns {
    sealed interface Shape permits Circle, Square, Pair {
    }

    record Circle(int radius) implements Shape {
    }

    record Square(int side) implements Shape {
    }

    record Pair(Shape left, Shape right) implements Shape {
    }

    enum Color { RED, GREEN }

    static int exhaustive(Shape shape) {
        return switch (shape) {
            case Circle c -> c.radius();
            case Square s -> s.side();
            case Pair p -> 0;
        };
    }

    static int statement(Shape shape) {
        int n = 0;
        switch (shape) {
            case Circle c -> n = 1;
            case Square s when s.side() > 3 -> n = 2;
            case Square s -> n = 3;
            case Pair p -> n = 4;
        }
        return n;
    }

    static int records(Shape shape) {
        return switch (shape) {
            case Pair(Circle(int r), Square(int s)) -> r + s;
            case Pair(Square s, Shape other) -> 1;
            case Pair(Shape a, Shape b) -> 2;
            case Circle(int r) when r > 3 -> 3;
            case Circle(int r) -> 4;
            case Square(int s) -> 5;
        };
    }

    static int ifs(Object o) {
        if (o instanceof Pair(Circle(int r), Shape other) && r > 3) {
            return r;
        }
        if (o instanceof String s && !s.isEmpty()) {
            return s.length();
        }
        return 0;
    }

    static String nulls(Object o) {
        return switch (o) {
            case null -> "null";
            case String s -> s;
            case Integer i when i > 3 -> "large";
            case Color c -> "color";
            default -> "other";
        };
    }

    static int enums(Color color) {
        return switch (color) {
            case RED -> 1;
            case GREEN -> 2;
        };
    }

    static int stringsWithNull(String s) {
        return switch (s) {
            case null -> 0;
            case "a", "b" -> 1;
            case "c" -> 2;
            default -> 3;
        };
    }
}
