//! How properties choose values and sessions.

use generators::session::{Act, KnownSession, Plan, PlanStep};
use generators::values::Value;
use proptest::prelude::*;

/// Small values, mostly flat.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        2 => any::<u8>().prop_map(Value::Word),
        3 => any::<u8>().prop_map(Value::Number),
        5 => any::<u8>().prop_map(Value::Text),
        1 => (0..200u8).prop_map(Value::Deep),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((any::<u8>(), inner), 0..4).prop_map(Value::Object),
        ]
    })
}

/// Steps, mostly of ordinary traffic, with few ids so that they meet.
pub(crate) fn steps() -> impl Strategy<Value = PlanStep> {
    let act = prop_oneof![
        4 => Just(Act::Ask),
        4 => Just(Act::Call),
        5 => Just(Act::Answer),
        2 => Just(Act::Fail),
        2 => Just(Act::Notify),
        2 => Just(Act::Stray),
        1 => Just(Act::Aside),
    ];
    let id = prop_oneof![3 => 0..3u8, 1 => any::<u8>()];
    let value = prop::option::weighted(0.8, values());
    let time = prop::option::weighted(0.8, any::<u8>());
    (act, any::<bool>(), id, any::<u8>(), value, any::<u8>(), time, any::<u8>()).prop_map(
        |(act, client, id, method, value, layout, time, slot)| PlanStep {
            act,
            client,
            id,
            method,
            value,
            layout,
            time,
            slot,
        },
    )
}

/// Sessions of up to a dozen steps, some of them with a challenge.
pub(crate) fn sessions() -> impl Strategy<Value = KnownSession> {
    let plan = (prop::collection::vec(steps(), 0..12), prop::option::weighted(0.1, any::<u8>()));
    plan.prop_map(|(steps, challenge)| KnownSession::new(Plan { steps, challenge }))
}
