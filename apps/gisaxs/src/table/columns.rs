//! Columns and their units by name.

/// A column that a command reads.
pub struct Column {
    /// Names in a header, in lower case without blanks, `_`, brackets and unit; the first is the one in messages.
    pub names: &'static [&'static str],
    /// Units and their factors; the first is that of a column without unit.
    pub units: &'static [(&'static str, f64)],
    /// The value where a header does not name the column; `None`: it must.
    pub absent: Option<f64>,
}

/// How a table is read.
pub struct Layout {
    /// The columns, in the order that they have without a header.
    pub columns: &'static [Column],
    /// Names of columns that a header may have and that are not used.
    pub unused: &'static [&'static str],
    /// Number of the columns that a table without a header has.
    pub plain: usize,
    /// Whether without a header more columns may follow, which are not used.
    pub more: bool,
    /// Whether a number may be missing: NaN.
    pub gaps: bool,
}

/// Where a table has each column, `None` if it leaves it out, and the factor of its unit.
pub(super) type Places = Vec<(Option<usize>, f64)>;

impl Layout {
    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|c| c.names[0]).collect();
        names.join(",")
    }

    /// Names of the columns that a table without a header has.
    pub(super) fn plain_names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|c| c.names[0]).collect();
        names[..self.plain].join(",")
    }

    /// Name and unit of a column: `qx`, `alpha (deg)`, `alpha_deg`, `qx [1/nm]`, `q_x/nm^-1`.
    pub(super) fn named(&self, text: &str) -> (String, Option<String>) {
        let text = text.trim().trim_start_matches('\u{feff}').to_lowercase();
        let known = |name: &str| {
            self.unused.contains(&name) || self.columns.iter().any(|c| c.names.contains(&name))
        };
        if known(&plain(&text)) {
            return (plain(&text), None);
        }
        for open in ['(', '['] {
            if let Some((name, unit)) = text.split_once(open)
                && known(&plain(name))
            {
                return (plain(name), Some(plain(unit)));
            }
        }
        let cuts = text.char_indices().filter(|(_, c)| "/_ ".contains(*c));
        for (at, _) in cuts {
            let (name, unit) = (plain(&text[..at]), plain(&text[at + 1..]));
            if known(&name) {
                return (name, Some(unit));
            }
        }
        (plain(&text), None)
    }

    /// Where a header has each column, and the factor of its unit.
    pub(super) fn places(&self, names: &[String]) -> Result<Places, String> {
        let mut places: Vec<Option<(usize, f64)>> = vec![None; self.columns.len()];
        for (k, text) in names.iter().enumerate() {
            let (name, unit) = self.named(text);
            let Some(c) = (self.columns.iter()).position(|c| c.names.contains(&name.as_str()))
            else {
                if self.unused.contains(&name.as_str()) {
                    continue;
                }
                return Err(format!(
                    "the column \"{text}\" is unknown; the columns are {}",
                    self.names()
                ));
            };
            let column = &self.columns[c];
            let factor = match unit {
                None => column.units.first().map_or(1.0, |u| u.1),
                Some(unit) => match column.units.iter().find(|u| u.0 == unit) {
                    Some((_, factor)) => *factor,
                    None => {
                        let known: Vec<&str> = column.units.iter().map(|u| u.0).collect();
                        return Err(format!(
                            "the unit of \"{text}\" is unknown; known are {}",
                            known.join(", ")
                        ));
                    }
                },
            };
            if places[c].replace((k, factor)).is_some() {
                return Err(format!("the column {} is there twice", column.names[0]));
            }
        }
        (self.columns.iter().zip(places))
            .map(|(c, place)| match (place, c.absent) {
                (Some((k, factor)), _) => Ok((Some(k), factor)),
                (None, Some(_)) => Ok((None, 1.0)),
                (None, None) => Err(format!(
                    "the column {} is missing; the columns are {}",
                    c.names[0],
                    self.names()
                )),
            })
            .collect()
    }
}

/// A name without what may be left out of it.
pub(super) fn plain(text: &str) -> String {
    (text.to_lowercase().chars())
        .filter(|c| !c.is_whitespace() && !"_()[]{}".contains(*c))
        .collect()
}
