//! Model identities on random machines.

use greenup_model::tradeoff::Tradeoff;
use greenup_model::{EnergyRoofline, Estimate, Machine, Op, OpCost, Work, predict};
use proptest::prelude::*;

fn log(lo: f64, hi: f64) -> impl Strategy<Value = f64> {
    (lo.ln()..hi.ln()).prop_map(f64::exp)
}

fn roofline() -> impl Strategy<Value = EnergyRoofline> {
    (
        log(1e-13, 1e-9),
        log(0.05, 200.0),
        log(1e-13, 1e-8),
        log(0.05, 200.0),
        prop_oneof![Just(0.0), log(1e-3, 1e3)],
        prop_oneof![Just(None), log(0.05, 2.0).prop_map(Some)],
    )
        .prop_map(|(tau, bt, eps, be, pi0, headroom)| {
            let r = EnergyRoofline {
                tau_flop: tau,
                tau_mem: tau * bt,
                eps_flop: eps,
                eps_mem: eps * be,
                pi0: pi0 * eps / tau,
                dpi: None,
            };
            EnergyRoofline {
                dpi: headroom.map(|h| h * (r.pi_flop() + r.pi_mem())),
                ..r
            }
        })
}

fn machine(r: &EnergyRoofline) -> Machine {
    let cost = |t, e| OpCost {
        time_s: Some(Estimate::new(t)),
        energy_j: Some(Estimate::new(e)),
        clock_hz: None,
    };
    Machine {
        name: "random".into(),
        title: "random".into(),
        label: Default::default(),
        about: String::new(),
        sources: vec![],
        facts: Default::default(),
        warnings: vec![],
        constant_power_w: Some(Estimate::new(r.pi0)),
        usable_power_w: r.dpi.map(Estimate::new),
        clock: None,
        network: None,
        link: None,
        host: None,
        cost: [
            (Op::F64, cost(r.tau_flop, r.eps_flop)),
            (Op::Dram, cost(r.tau_mem, r.eps_mem)),
        ]
        .into(),
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn time_energy_power_agree(r in roofline(), i in log(1e-3, 1e4)) {
        let (t, e, p) = (r.time_per_flop(i), r.energy_per_flop(i), r.power(i));
        prop_assert!(same(e, p * t));
        prop_assert!(same(r.capped_power(i), p));
        prop_assert!(p <= r.max_power() * (1.0 + 1e-9));
        prop_assert!(r.speed(i) <= 1.0 + 1e-12 && r.efficiency(i) <= 1.0 + 1e-12);
        let s = r.throttling(i);
        prop_assert!(s.flop >= 1.0 - 1e-12 && s.mem >= 1.0 - 1e-12);
        prop_assert!(same(t, r.tau_flop * s.flop) && same(t, r.tau_mem * s.mem / i));
        prop_assert!(r.balance_minus() <= r.time_balance() * (1.0 + 1e-12));
        prop_assert!(r.balance_plus() >= r.time_balance() * (1.0 - 1e-12));
        let half = r.half_efficiency_intensity();
        prop_assert!((r.efficiency(half) - 0.5).abs() < 1e-6);
        if r.dpi.is_none() {
            prop_assert!(same(r.power_line(i), p));
            if r.pi0 == 0.0 {
                let (lo, hi) = r.power_bounds();
                let y = p / r.pi_flop();
                prop_assert!(lo * (1.0 - 1e-9) <= y && y <= hi * (1.0 + 1e-9));
            }
        }
    }

    #[test]
    fn prediction_is_the_two_class_model(r in roofline(), w in log(1.0, 1e15), i in log(1e-3, 1e4), n in log(1.0, 100.0)) {
        let m = machine(&r);
        let work = Work::new().with(Op::F64, w).unwrap().with(Op::Dram, w / i).unwrap();
        let p = predict(&m, &work).unwrap();
        prop_assert!(same(p.time_s, w * r.time_per_flop(i)));
        prop_assert!(same(p.energy_j.unwrap(), w * r.energy_per_flop(i)));
        prop_assert!(same(p.power_w.unwrap() * p.time_s, p.energy_j.unwrap()));
        // N nodes: N times as fast, the same energy, N times the power.
        let q = predict(&m.cluster(n).unwrap(), &work).unwrap();
        prop_assert!(same(q.time_s * n, p.time_s) && same(q.energy_j.unwrap(), p.energy_j.unwrap()));
        // A tighter cap never makes anything faster or cheaper.
        let k = predict(&m.throttled(n).unwrap(), &work).unwrap();
        prop_assert!(k.time_s >= p.time_s * (1.0 - 1e-12));
        prop_assert!(k.energy_j.unwrap() >= p.energy_j.unwrap() * (1.0 - 1e-12));
        let bound = r.pi0 + m.usable_power().unwrap() / n;
        let b = predict(&m.power_bounded(bound).unwrap(), &work).unwrap();
        prop_assert!(b.power_w.unwrap() <= bound * (1.0 + 1e-9));
    }

    #[test]
    fn greenup_stays_inside_its_bounds(r in roofline(), i in log(1e-3, 1e3), f in log(0.001, 20.0), m in log(0.001, 50.0)) {
        let t = Tradeoff { intensity: i, extra_work: 1.0 + f, less_traffic: 1.0 + m };
        let g = r.tradeoff(t);
        let (lo, hi) = g.greenup_bounds;
        let slack = 1e-9 * g.greenup;
        prop_assert!(lo - slack <= g.greenup && g.greenup <= hi + slack, "{g:?}");
        prop_assert_eq!(g.greenup > 1.0, t.extra_work < g.max_extra_work);
        prop_assert!(g.max_extra_work <= g.max_extra_work_any_traffic * (1.0 + 1e-12));
    }
}
