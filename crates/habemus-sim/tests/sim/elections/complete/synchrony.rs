//! What synchronous elections need of a network.

use super::*;

/// Pulses need a network that keeps them, and the refusal says so.
#[test]
fn an_algorithm_in_pulses_is_refused_where_there_are_none() {
    let (gst, delta) = (Duration::from_secs(1), Duration::from_millis(10));
    let models = [
        (TimeModel::Asynchronous, "asynchronous"),
        (TimeModel::PartiallySynchronous { gst, delta }, "partially-synchronous"),
        (TimeModel::Synchronous { pulse: Duration::ZERO }, "synchronous"),
    ];
    for algorithm in ["all-to-all", "capture-sync"] {
        for (model, name) in models {
            let network = Network { model, ..Network::default() };
            let scenario = Scenario { network: network.clone(), ..scenario(algorithm, &[1, 2], &[1], &[]) };
            let error = run(&scenario, false).expect_err("there are no pulses");
            let unfit = match &error {
                RunError::Setup(SetupError::Unfit { what: "network", name, .. }) => Some(name.as_str()),
                _ => None,
            };
            assert_eq!(unfit, Some(name), "{error}");
            assert!(error.to_string().contains(&format!("{algorithm} works in pulses")), "{error}");
            let request = CostRequest { network, ..request(algorithm, &[2], &[]) };
            let refused = cost(&request, 1, &AtomicBool::new(false), |_| {});
            assert!(matches!(refused, Err(CostError::Setup(SetupError::Unfit { what: "network", .. }))));
        }
    }
}

/// The pulse of the network is the pulse of the processes, whatever its length.
#[test]
fn pulses_of_any_length_will_do() {
    for pulse in [Duration::from_nanos(2), Duration::from_micros(7), Duration::from_secs(3)] {
        let network = Network { model: TimeModel::Synchronous { pulse }, ..Network::default() };
        let scenario = scenario("capture-sync", &[4, 1, 3, 2], &[1, 4, 3], &[]);
        assert_eq!(elects(&Scenario { network: network.clone(), ..scenario }).leader, Some(4));
        let points = measure(&CostRequest { network, ..request("all-to-all", &[5], &[]) });
        assert_eq!((points[0].min, points[0].max), (20, 20));
    }
}
