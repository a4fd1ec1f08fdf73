#include "dataplane/html/page_style.h"

namespace rocetune::html {

// q1..q9: from little to much of a quantity; w1..w9: the same of what is unwelcome. Both grow darker on white
// and brighter on black, so they are read without telling hues apart. The named hues lie at least 8 apart
// (OKLab, x 100) for normal sight, protanopia, deuteranopia and tritanopia (Machado, Oliveira, Fernandes
// 2009), and stand out 3 : 1 from a plot.
const std::string_view kPageStyle = R"(:root{color-scheme:light dark;
--ink:#1a1f27;--faint:#5c6570;--line:#d5dae0;--paper:#fff;--lane:#f3f5f8;--tint:#dce9f6;
--good:#1a7448;--warn:#9a5800;--bad:#b3261e;
--blue:#164c88;--orange:#b78032;--green:#00775a;--pink:#d22762;--sky:#1383c5;--vermilion:#ab2c00;--purple:#684fc6;--grey:#928999;
--q1:#e9f5d8;--q2:#cdeac5;--q3:#a3dab8;--q4:#6fc5b4;--q5:#41aab4;--q6:#2688ad;--q7:#1e659b;--q8:#1b4583;--q9:#122a5c;
--w1:#fdeed2;--w2:#fcdba4;--w3:#fac174;--w4:#f5a046;--w5:#e87d26;--w6:#d05a12;--w7:#ab3e0b;--w8:#812a07;--w9:#541904}
@media screen and (prefers-color-scheme:dark){:root{
--ink:#e4e8ee;--faint:#9aa4b0;--line:#39414b;--paper:#14181d;--lane:#1c2229;--tint:#1e3a57;
--good:#4cc38a;--warn:#f0a840;--bad:#f2726a;
--blue:#5187e1;--orange:#f2a640;--green:#04dab7;--pink:#cc86a9;--sky:#92d3ff;--vermilion:#ed6c2c;--purple:#b3a2fe;--grey:#7c7888;
--q1:#1c3345;--q2:#1e455f;--q3:#205a78;--q4:#25728e;--q5:#338c9f;--q6:#4ea7a8;--q7:#77c1ac;--q8:#a9d9b0;--q9:#e2f1bb;
--w1:#392618;--w2:#543319;--w3:#744318;--w4:#975518;--w5:#ba6a1c;--w6:#d8842c;--w7:#eda04a;--w8:#f9c179;--w9:#ffe4b5}}
*{box-sizing:border-box}
body{font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem auto;max-width:1100px;padding:0 1rem}
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2.4rem 0 .4rem;break-after:avoid}h3{font-size:1rem;margin:1.4rem 0 .3rem;break-after:avoid}
p{margin:.3rem 0;max-width:95ch;overflow-wrap:anywhere}
small,.faint{color:var(--faint)}small{font-size:.87em}
code{font:.93em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
pre{font:.93em/1.5 ui-monospace,monospace;background:var(--lane);padding:.5rem .8rem;margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
footer{color:var(--faint);font-size:12px;border-top:1px solid var(--line);margin:2.5rem 0 0;padding:.4rem 0}
.good{--c:var(--good)}.warn{--c:var(--warn)}.bad{--c:var(--bad)}.ink{--c:var(--ink)}
.blue{--c:var(--blue)}.orange{--c:var(--orange)}.green{--c:var(--green)}.pink{--c:var(--pink)}
.sky{--c:var(--sky)}.vermilion{--c:var(--vermilion)}.purple{--c:var(--purple)}.grey{--c:var(--grey)}
.verdict{display:flex;gap:.7rem;border-left:4px solid var(--c);background:var(--lane);padding:.5rem .8rem;margin:.6rem 0;overflow-wrap:anywhere}
.verdict .sign{color:var(--c);font-size:1.15em;line-height:1.3;flex:none;width:1em;text-align:center}
.lesson{list-style:none;padding:0;margin:.3rem 0}.lesson li{margin:.25rem 0;padding-left:1.6rem;position:relative}.lesson .sign{position:absolute;left:.2rem;color:var(--c,var(--faint))}.lesson small{margin-left:.7em}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.6rem,1fr));gap:.6rem;margin:1rem 0}
.tiles div{border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem;break-inside:avoid}
.tiles dt{color:var(--faint);font-size:12px}.tiles dd{margin:0;font-size:1.3rem;line-height:1.3;font-variant-numeric:tabular-nums}
.tiles .note{font-size:12px;color:var(--faint);line-height:1.35}.tiles .warn{border-color:var(--c)}.tiles .warn dd:nth-child(2){color:var(--c)}
.wide{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px;line-height:1.4}
th,td{padding:.22rem .55rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;vertical-align:baseline}
th{vertical-align:bottom;font-weight:600;white-space:normal;line-height:1.25}th small{font-weight:400}
th:first-child,td:first-child{padding-left:.3rem}.l{text-align:left}tr{break-inside:avoid}
.wide th:first-child,.wide td:first-child{position:sticky;left:0;background:var(--paper)}
td[style]{background:linear-gradient(90deg,var(--tint) var(--s),transparent 0);print-color-adjust:exact;-webkit-print-color-adjust:exact}
td.bad,td.warn,td.good{color:var(--c);font-weight:600}td.faint{color:var(--faint)}
td.wrap{white-space:normal;min-width:15rem}.branch{padding:.1rem 0 .1rem calc(var(--d)*1.3rem);background:repeating-linear-gradient(90deg,var(--line) 0 1px,transparent 1px 1.3rem) 0 0/calc(var(--d)*1.3rem) 100% no-repeat;margin:-.22rem 0}
.branch small{display:block}details{margin:.4rem 0}summary{cursor:pointer;color:var(--faint)}
.wide tr.best td{background-color:var(--lane)}
.badges{display:flex;flex-wrap:wrap;gap:.2rem;max-width:10rem}
.badge{display:inline-block;border:1px solid var(--c,var(--line));color:var(--c,var(--ink));border-radius:9px;padding:0 .5em;font-size:11px;line-height:1.5;white-space:nowrap}
.bar{display:inline-block;width:10rem;max-width:22vw;height:.75em;background:var(--lane);vertical-align:-.05em;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.bar i{display:block;height:100%;background:var(--c)}
figure{margin:0}svg{display:block;width:100%;height:100%;overflow:visible}
.grid{stroke:var(--line);stroke-width:1;fill:none;vector-effect:non-scaling-stroke}
.area{fill:var(--c);fill-opacity:.18}.line{fill:none;stroke:var(--c);stroke-width:1.5;vector-effect:non-scaling-stroke}
.solid{fill:var(--c)}
.swatch{display:inline-block;width:.7em;height:.7em;border-radius:2px;background:var(--c);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.plot{position:relative;background:var(--lane);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.y{position:relative}.y span,.axis span{position:absolute;font-size:11px;line-height:1;color:var(--faint);white-space:nowrap}
.y span{right:.45rem;transform:translateY(50%)}
.axis{position:relative;height:1.3rem}.axis span{top:.3rem;transform:translateX(-50%)}
.axis .first{transform:none}.axis .last{transform:translateX(-100%)}
.lanes{margin:.7rem 0 1.4rem}.lane,.strip,.ticks{display:grid;grid-template-columns:10.5rem 3.8rem minmax(0,1fr) 5rem;grid-template-areas:'name y plot out'}
.lane{margin-bottom:.7rem;break-inside:avoid}.lane .plot,.lane .y{height:88px}
.name{grid-area:name;font-size:13px;line-height:1.35;overflow-wrap:anywhere;padding-right:.5rem}.name small{display:block}
.y{grid-area:y}.plot,.axis{grid-area:plot}
.out{grid-area:out;padding-left:.6rem;font-size:12px;line-height:1.35;font-variant-numeric:tabular-nums;white-space:nowrap}.out output{display:block}.out .rest{display:block}.out .swatch{float:left;clear:left;margin:.3em .4em 0 0}
.key{display:block;white-space:nowrap}.reading [data-n] .rest{visibility:hidden}
.strip{margin-bottom:3px;break-inside:avoid}.strip .plot{height:18px}.strip .name{grid-area:name/name/y/y;font-size:12px;line-height:18px}.strip .name small{display:inline;margin-left:.5em}.strip .out{line-height:18px}
.bars .plot{height:calc(var(--n)*14px)}.bars .solid{fill-opacity:.55}.bars .out{line-height:14px;display:grid}.bars .name{line-height:1.25;padding:.1rem .5rem .3rem 0}.bars .name small{display:block;margin:0}.zero{stroke:var(--ink);stroke-width:1;vector-effect:non-scaling-stroke}
.brief{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.5rem 1rem;margin:1rem 0;max-width:95ch}.brief dt{font-weight:600}.brief dd{margin:0;overflow-wrap:anywhere}.brief ol,.brief ul{margin:.1rem 0;padding-left:1.3rem}
.lanehead{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:0 0 .35rem;align-items:baseline}
.ramp{display:inline-flex;align-items:center;font-size:11px;color:var(--faint);gap:.4em;white-space:nowrap}.ramp svg{width:8rem;height:.8em}
.q1{fill:var(--q1)}.q2{fill:var(--q2)}.q3{fill:var(--q3)}.q4{fill:var(--q4)}.q5{fill:var(--q5)}.q6{fill:var(--q6)}.q7{fill:var(--q7)}.q8{fill:var(--q8)}.q9{fill:var(--q9)}
.w1{fill:var(--w1)}.w2{fill:var(--w2)}.w3{fill:var(--w3)}.w4{fill:var(--w4)}.w5{fill:var(--w5)}.w6{fill:var(--w6)}.w7{fill:var(--w7)}.w8{fill:var(--w8)}.w9{fill:var(--w9)}
.when{display:none;position:absolute;top:.1rem;left:calc(var(--at)*100%);transform:translateX(-50%);background:var(--ink);color:var(--paper);font-size:11px;line-height:1.4;padding:0 .35em;white-space:nowrap;z-index:1}
.reading .when{display:block}.reading [data-n] .plot::after{content:'';position:absolute;top:0;bottom:0;left:calc(var(--at)*100%);border-left:1px solid var(--ink)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1.6rem 2rem;margin:1rem 0}
.chart{display:grid;grid-template-columns:3.8rem minmax(0,1fr);grid-template-areas:'name name' 'y plot' '. axis' '. label';break-inside:avoid}
.chart .plot,.chart .y{height:190px}.chart .axis{grid-area:axis}.chart .name{padding-bottom:.6rem}.chart .name small{display:inline;margin-left:.6em}
.chart .label{grid-area:label;text-align:center;font-size:12px;color:var(--faint)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:12px;margin:.4rem 0}.legend svg{display:inline-block;width:1.6rem;height:.9rem;vertical-align:-.15em;margin-right:.35em}
.ring{max-width:30rem;margin:.5rem 0;break-inside:avoid}.ring text{font-size:13px;fill:var(--ink)}.ring .number{fill:var(--paper);font-weight:600;text-anchor:middle}.ring .arc{fill:none;stroke:var(--c);stroke-width:2}
.range{stroke:var(--c);stroke-width:1.5;fill:none;vector-effect:non-scaling-stroke}
.dot{stroke:var(--c);stroke-width:8;fill:none;vector-effect:non-scaling-stroke}.round{stroke-linecap:round}.square{stroke-linecap:square;stroke-width:6}
.hole{stroke:var(--paper);stroke-width:3.5;fill:none;vector-effect:non-scaling-stroke}.dashed{stroke-dasharray:5 4}
@media(max-width:640px){body{margin:1rem auto}.brief{grid-template-columns:minmax(0,1fr);gap:.1rem}.brief dd{margin-bottom:.6rem}
.lane,.strip,.ticks{grid-template-columns:3.8rem minmax(0,1fr);grid-template-areas:'name name' 'y plot'}
.lane{grid-template-areas:'name name' 'out out' 'y plot'}.lane .out{padding:0 0 .3rem;display:flex;gap:1rem}.lane .plot,.lane .y{height:80px}
.name small,.key{display:inline;margin-left:.5em}
.strip .name{grid-area:name}.strip .out{grid-area:y;padding:0 .4rem 0 0;text-align:right;font-size:11px}
.minor{display:none}td.wrap{min-width:9rem}.branch{padding-left:calc(var(--d)*.8rem);background:repeating-linear-gradient(90deg,var(--line) 0 1px,transparent 1px .8rem) 0 0/calc(var(--d)*.8rem) 100% no-repeat}.bar{width:2.6rem}.tiles{grid-template-columns:repeat(auto-fill,minmax(7.4rem,1fr));gap:.4rem}}
@media print{:root{color-scheme:light}body{margin:0;max-width:none}details::details-content{content-visibility:visible}
.wide{overflow:visible}td,th{white-space:normal}td.wrap{min-width:0}}
)";

// The pointer's place in one chart is the same moment in all of them.
const std::string_view kReadOutScript = R"((() => {
const outs = [...document.querySelectorAll('output[data-v]')].map(o => ({
  o, rest: o.textContent, values: o.dataset.v.split('|'), columns: +o.closest('.lanes').dataset.n}));
const show = at => {
  document.body.classList.toggle('reading', at !== null);
  if (at !== null) document.body.style.setProperty('--at', at);
  for (const {o, rest, values, columns} of outs)
    o.textContent = at === null ? rest : values[Math.min(values.length - 1, Math.floor(at * columns))];
};
for (const plot of document.querySelectorAll('.lanes[data-n] .plot')) {
  plot.addEventListener('pointermove', e => {
    const r = plot.getBoundingClientRect();
    show(Math.min(1, Math.max(0, (e.clientX - r.left) / r.width)));
  });
  plot.addEventListener('pointerleave', () => show(null));
}
})();
)";

}  // namespace rocetune::html
