//! A class that nobody wants costs no allocation.

#[path = "support/compiler.rs"]
mod compiler;

use compiler::compiler;
use host::config::PluginConfig;
use host::{CodeLocation, Config, Loader, Pipeline};

#[test]
fn a_class_nobody_wants_costs_no_allocation() {
    let select = [
        "com.acme.**",
        "!**.gen.*Stub?",
        "@com.acme.Marked",
        "loader:com.acme.*",
    ];
    let plugin = PluginConfig {
        select: select.map(str::to_owned).to_vec(),
        ..PluginConfig::bundled("coverage")
    };
    let config = Config {
        plugins: vec![plugin],
        ..Config::default()
    };
    let pipeline = Pipeline::new(&config, &compiler()).unwrap();
    let loader = Loader::Other("com/acme/Loader".into());
    let mut wanted = [false; 4];
    let cost = allocation_counter::measure(|| {
        wanted = [
            pipeline.wants(b"com/acme/A", &loader, CodeLocation::Unread),
            pipeline.wants(b"com/acme/gen/AStub1", &loader, CodeLocation::Unread),
            pipeline.wants(b"com/acme/A", &Loader::App, CodeLocation::Unread),
            pipeline.wants(b"java/lang/String", &Loader::Boot, CodeLocation::None),
        ];
    });
    assert_eq!(cost.count_total, 0);
    assert_eq!(wanted, [true, false, false, false]);
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1])));
    assert_eq!(counted.count_total, 1, "the counter counts");
}
