//! The monitors of one problem as one type, so that drivers can keep them in a list and hash them.

/// Declares an enum with one variant per monitor, each named like the monitor's type, that passes every call
/// on to the monitor inside.
macro_rules! dispatch {
    ($(#[$about:meta])* $name:ident watches $problem:ident: $($monitor:ident),+ $(,)?) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(
                #[doc = concat!("Watched by \
                    [`", stringify!($monitor), "`](struct@", stringify!($monitor), ").")]
                $monitor($monitor),
            )+
        }

        impl $crate::property::Monitor<$problem> for $name {
            fn name(&self) -> &'static str {
                match self { $(Self::$monitor(monitor) => monitor.name(),)+ }
            }

            fn demand(&self) -> &'static str {
                match self { $(Self::$monitor(monitor) => monitor.demand(),)+ }
            }

            fn refused_writes(&self) -> u64 {
                match self { $(Self::$monitor(monitor) => monitor.refused_writes(),)+ }
            }

            fn visit_terms(&mut self, visit: &mut dyn FnMut(&mut u64)) {
                match self { $(Self::$monitor(monitor) => monitor.visit_terms(visit),)+ }
            }

            fn split_off(&mut self) -> Option<Self> {
                match self { $(Self::$monitor(monitor) => monitor.split_off().map(Self::$monitor),)+ }
            }

            fn is_at_stake(&self, who: &$crate::property::Population) -> bool {
                match self { $(Self::$monitor(monitor) => monitor.is_at_stake(who),)+ }
            }

            fn observe(
                &mut self,
                seen: &$crate::property::Observation<'_, $problem>,
                who: &$crate::property::Population,
            ) -> Result<(), $crate::property::Violation> {
                match self { $(Self::$monitor(monitor) => monitor.observe(seen, who),)+ }
            }

            fn all_started(
                &mut self,
                at: std::time::Duration,
                who: &$crate::property::Population,
            ) -> Result<(), $crate::property::Violation> {
                match self { $(Self::$monitor(monitor) => monitor.all_started(at, who),)+ }
            }

            fn at_end(
                &self,
                end: $crate::property::End,
                who: &$crate::property::Population,
            ) -> $crate::property::Verdict {
                match self { $(Self::$monitor(monitor) => monitor.at_end(end, who),)+ }
            }
        }
    };
}
pub(super) use dispatch;
