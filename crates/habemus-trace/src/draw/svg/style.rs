//! The looks of the picture: colours that also the colour-blind tell apart (after Okabe and Ito), in a
//! light and a dark scheme.
//!
//! The rules name their colours outright instead of through variables, because converters and older viewers
//! know no variables and would draw everything black.

/// The pattern of a paused process, and the style sheet.
pub(super) const STYLE: &str = r##"<defs><pattern id="habemus-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V6"/></pattern></defs>
<style>
.habemus{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif;font-size:12px}
.habemus .ground{fill:#fff}
.habemus .title{font-size:19px;font-weight:600;fill:#1b2129}
.habemus .subtitle,.habemus .legend{fill:#5a6470}
.habemus .pill{fill:#2f3944}
.habemus .name{font-size:14px;font-weight:600;fill:#fff}
.habemus .middle{text-anchor:middle}
.habemus .end{text-anchor:end}
.habemus .line{stroke:#7d8893;stroke-width:1.6;fill:none}
.habemus .down{stroke:#b4bcc4;stroke-dasharray:1.5 5.5;stroke-linecap:round}
.habemus .waiting{fill:#a9d8f5}
.habemus .inside{fill:#009e73}
.habemus .leading{fill:#e69f00}
.habemus .decided{fill:#cc79a7}
.habemus .paused-ground{fill:#fff}
.habemus .paused{fill:url(#habemus-hatch);stroke:#8d97a1;stroke-width:1}
.habemus .hatch{stroke:#8d97a1;stroke-width:2.4;fill:none}
.habemus .dot{fill:#2f3944}
.habemus .message{fill:none;stroke-width:1.6;stroke-linecap:round}
.habemus .lost{stroke-dasharray:5 4}
.habemus .pending{stroke-dasharray:1 4}
.habemus .k0{fill:#0072b2}.habemus .message.k0{fill:none;stroke:#0072b2}
.habemus .k1{fill:#a33a78}.habemus .message.k1{fill:none;stroke:#a33a78}
.habemus .k2{fill:#6b4a9c}.habemus .message.k2{fill:none;stroke:#6b4a9c}
.habemus .k3{fill:#8a5a00}.habemus .message.k3{fill:none;stroke:#8a5a00}
.habemus .k4{fill:#00704f}.habemus .message.k4{fill:none;stroke:#00704f}
.habemus .k5{fill:#59636e}.habemus .message.k5{fill:none;stroke:#59636e}
.habemus .loss,.habemus .crash{stroke:#d1490c;fill:none;stroke-linecap:round}
.habemus .loss{stroke-width:2.4}
.habemus .crash{stroke-width:3.4}
.habemus .open{fill:#fff;stroke:#2f3944;stroke-width:1.6}
.habemus .hand{fill:none;stroke:#2f3944;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.habemus .command{fill:#2f3944}
.habemus .star{fill:#e69f00;stroke:#5c4000;stroke-width:1.1;stroke-linejoin:round}
.habemus .decision{fill:#cc79a7;stroke:#6d2f52;stroke-width:1.1}
.habemus .doubt{fill:#fff;stroke:#d1490c;stroke-width:1.6}
.habemus .doubt-sign{font-size:11px;font-weight:700;fill:#d1490c}
.habemus .label,.habemus .words{paint-order:stroke;stroke:#fff;stroke-width:3.5px;stroke-linejoin:round}
.habemus .words{font-size:11px;fill:#2f3944}
.habemus .bad{fill:#c23f05}
.habemus .violation{font-weight:600;fill:#c23f05}
.habemus .band{fill:#d55e00;opacity:.2}
.habemus .cut{fill:#fbe3d6}
.habemus .cut-words{font-size:11px;fill:#8f2f04}
.habemus .cut-edge{stroke:#d1490c;stroke-width:1;stroke-dasharray:2 4;fill:none}
.habemus .axis{stroke:#9aa4ae;stroke-width:1;fill:none}
.habemus .tick{font-size:11px;fill:#5a6470}
.habemus .silence{font-size:11px;font-style:italic;fill:#5a6470}
.habemus .torn{fill:#fff}
.habemus .tear{stroke:#b4bcc4;stroke-width:1.2;fill:none}
@media (prefers-color-scheme:dark){
.habemus .ground,.habemus .paused-ground,.habemus .torn{fill:#14181d}
.habemus .title{fill:#eef1f4}
.habemus .subtitle,.habemus .legend,.habemus .tick,.habemus .silence{fill:#a3aeb9}
.habemus .pill{fill:#dde3e9}
.habemus .name{fill:#14181d}
.habemus .line{stroke:#8a95a1}
.habemus .down,.habemus .tear{stroke:#56606b}
.habemus .waiting{fill:#2f6f95}
.habemus .inside{fill:#12b886}
.habemus .dot,.habemus .command{fill:#dde3e9}
.habemus .k0{fill:#6cc0f5}.habemus .message.k0{fill:none;stroke:#6cc0f5}
.habemus .k1{fill:#eda3cd}.habemus .message.k1{fill:none;stroke:#eda3cd}
.habemus .k2{fill:#c9aef2}.habemus .message.k2{fill:none;stroke:#c9aef2}
.habemus .k5{fill:#b9c3cd}.habemus .message.k5{fill:none;stroke:#b9c3cd}
.habemus .k3{fill:#ecb84f}.habemus .message.k3{fill:none;stroke:#ecb84f}
.habemus .k4{fill:#4fd3a8}.habemus .message.k4{fill:none;stroke:#4fd3a8}
.habemus .loss,.habemus .crash,.habemus .cut-edge{stroke:#ff8a4f}
.habemus .open,.habemus .doubt{fill:#14181d}
.habemus .open,.habemus .hand{stroke:#dde3e9}
.habemus .doubt{stroke:#ff8a4f}
.habemus .doubt-sign,.habemus .bad,.habemus .violation{fill:#ff9a66}
.habemus .label,.habemus .words{stroke:#14181d}
.habemus .words{fill:#dde3e9}
.habemus .words.bad{fill:#ff9a66}
.habemus .star{fill:#ffc745;stroke:#14181d}
.habemus .band{opacity:.34}
.habemus .cut{fill:#47260f}
.habemus .cut-words{fill:#ffc3a0}
.habemus .axis{stroke:#6b7682}
}
</style>"##;

/// What pictures need besides if they show variables.
pub(super) const VARIABLES: &str = "<style>
.habemus .words.state{font-style:italic;fill:#5a6470}
@media (prefers-color-scheme:dark){.habemus .words.state{fill:#a3aeb9}}
</style>";
