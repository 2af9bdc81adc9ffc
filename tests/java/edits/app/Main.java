package app;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class Main {
    /** A text that is also the name of a class. */
    private static final String TEXT = "app/Shape";

    public static void main(String[] arguments) throws Exception {
        List<Shape<?>> shapes = new ArrayList<>();
        shapes.add(new Shape.Round(2, List.of()));
        shapes.add(new Shape.Square(Shape.Square.Size.LARGE));
        shapes.add(new Shape.Square(Shape.Square.Size.SMALL));
        shapes.sort(Shape.by(Shape::area));
        for (Shape<?> shape : shapes) {
            System.out.println(shape.getClass().getSimpleName() + " " + shape.area());
            if (shape instanceof Shape.Square square) {
                System.out.println(square.new Corner().at());
            }
        }
        System.out.println(TEXT + " " + new Shape.Round(1, List.of()).equals(new Shape.Round(1, List.of())));
        System.out.println(Arrays.toString(Shape.TABLE.get("sizes").apply(shapes.get(0))));
        Kind kind = Shape.class.getAnnotation(Kind.class);
        System.out.println(kind.value().getSimpleName() + " " + kind.size());
        System.out.println(Shape.class.isSealed() + " " + Shape.class.getPermittedSubclasses().length);
        System.out.println(Shape.Round.class.getRecordComponents()[1].getGenericType());
        System.out.println(Shape.class.getTypeParameters()[0].getBounds()[0]);
        for (Method method : Shape.class.getDeclaredMethods()) {
            if (method.getName().equals("by")) {
                System.out.println(method.toGenericString());
            }
        }
        System.out.println(Shape.Square.Corner.class.getEnclosingClass() + " " + Shape.Square.Corner.class.getNestHost());
        Object local = new Object() {
            @Override
            public String toString() {
                return getClass().getEnclosingMethod().getName() + " " + getClass().getName();
            }
        };
        System.out.println(local);
    }
}
