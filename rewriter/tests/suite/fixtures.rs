//! The classes in `tests/fixtures`.

use rewriter::{EditPlan, InsertionPoint, Location, MethodIndex, ProbeStorage};

pub const STORAGE: ProbeStorage<'static> = ProbeStorage::SharedArray {
    owner: "java/lang/$Classhook",
    field: "hits",
};

pub const SHAPES: &[u8] = include_bytes!("../fixtures/release25/Shapes.class");

/// All fixtures, by name.
pub const ALL: &[(&str, &[u8])] = &[
    ("Shapes", SHAPES),
    (
        "Shapes$Circle",
        include_bytes!("../fixtures/release25/Shapes$Circle.class"),
    ),
    (
        "Shapes$Colour",
        include_bytes!("../fixtures/release25/Shapes$Colour.class"),
    ),
    (
        "Shapes$Figure",
        include_bytes!("../fixtures/release25/Shapes$Figure.class"),
    ),
    (
        "Shapes$Mark",
        include_bytes!("../fixtures/release25/Shapes$Mark.class"),
    ),
    ("Older", include_bytes!("../fixtures/release8/Older.class")),
    (
        "Older$1",
        include_bytes!("../fixtures/release8/Older$1.class"),
    ),
];

/// Returns a plan with one hit at each of these locations of one method.
pub fn hits(method: MethodIndex, places: &[Location]) -> EditPlan {
    let mut plan = EditPlan::new();
    for (probe, place) in places.iter().enumerate() {
        plan.hit(
            InsertionPoint {
                method,
                location: *place,
            },
            probe as u32,
        )
        .unwrap();
    }
    plan
}
