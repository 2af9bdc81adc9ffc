// Switches: dense, sparse, on strings, on enums, with shared and missing cases.

class Switches {
    enum Color { RED, GREEN, BLUE }

    static int dense(int x) {
        switch (x) {
            case 0: return 1;
            case 1:
            case 2: return 2;
            case 4: return 3;
        }
        return 0;
    }

    static int fallsThrough(int x) {
        int y = 0;
        switch (x) {
            case 1: y++;
            case 2: y++;
            case 1000: y++; break;
            default: y--;
            case 7: y *= 2;
        }
        return y;
    }

    static int sharedBetweenTwo(int x, int y) {
        for (int i = 0; i < 2; i++) {
            switch (x) {
                case 1: continue;
                case 2: break;
                case 3: continue;
                default: break;
            }
            switch (y) {
                case 1: continue;
                case 5: return 1;
            }
        }
        return 2;
    }

    static int strings(String s) {
        switch (s) {
            case "a": return 1;
            case "b":
            case "c": return 2;
            default: return 3;
        }
    }

    static int sameHash(String s) {
        switch (s) {
            case "Aa": return 1;
            case "BB": return 2;
            case "C": return 3;
        }
        return 4;
    }

    static String arrows(String s) {
        return switch (s) {
            case "x" -> "y";
            case "y", "z" -> "x";
            default -> {
                if (s.isEmpty()) {
                    yield "";
                }
                yield s;
            }
        };
    }

    static int onlyDefault(String s) {
        switch (s) {
            default: return 1;
        }
    }

    static int noDefault(String s) {
        int r = 0;
        switch (s) {
            case "one": r = 1; break;
            case "two": r = 2; break;
            case "three": r = 3;
        }
        return r;
    }

    static int stringInLoop(String[] all) {
        int r = 0;
        for (String s : all) {
            switch (s) {
                case "go": continue;
                case "stop": return r;
            }
            r++;
        }
        return r;
    }

    static int exhaustive(Color color) {
        return switch (color) {
            case RED -> 1;
            case GREEN -> 2;
            case BLUE -> 3;
        };
    }

    static int exhaustiveShared(Color color) {
        return switch (color) {
            case RED, BLUE -> 1;
            case GREEN -> {
                if (color.name().isEmpty()) {
                    yield 4;
                }
                yield 5;
            }
        };
    }

    static int exhaustiveInLoop(Color[] colors) {
        int sum = 0;
        for (Color color : colors) {
            sum += switch (color) {
                case RED -> {
                    if (sum > 3) {
                        yield 1;
                    }
                    yield 2;
                }
                case GREEN -> 1;
                case BLUE -> 0;
            };
        }
        return sum;
    }

    static int manyCases(int x) {
        return switch (x) {
            case 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32 -> 0;
            case 1 -> 1; case 3 -> 3; case 5 -> 5; case 7 -> 7; case 9 -> 9; case 11 -> 11;
            case 13 -> 13; case 15 -> 15; case 17 -> 17; case 19 -> 19; case 21 -> 21; case 23 -> 23;
            default -> -1;
        };
    }
}
