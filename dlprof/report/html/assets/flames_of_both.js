// The difference of two runs' flame graphs: as wide as one side's time, coloured by which side takes longer.

const SLOWER_TINTS = ['#f7d9c4', '#f0ae80', '#e58a45'], FASTER_TINTS = ['#cfe3f2', '#94c3e4', '#56a5d8'], ALIKE = '#d8d8d8';
const TINT_SHARES = [0.005, 0.03, 0.1];  // of the phase, on the side where it is longer: from here on a tint
const ofA = node => node[8], ofB = node => node[9];

/** Nodes [depth, a ns, b ns, name, file, line, is user] as those of a flame graph whose widths are one side's times. */
function laidOut(nodes, side) {
  const ends = [0], told = [];  // by depth: where the next frame begins
  for (const [depth, a, b, name, file, line, user] of nodes) {
    const begin = ends[depth], ns = side === 'a' ? a : b;
    told.push([depth, begin, ns, name, file, line, user, 1, a, b]);
    ends[depth] = begin + ns;
    ends[depth + 1] = begin;
  }
  return told.filter(node => node[2] > 0);
}

class FlamesOfBoth extends Flames {
  get side() { return this.fold.value === 'slower' ? (this.flame.a_ns >= this.flame.b_ns ? 'a' : 'b') : this.fold.value; }

  get whole() { return this.side === 'a' ? this.flame.a_ns : this.flame.b_ns; }

  take() {
    const [a, b] = this.data.labels;
    this.nodes = laidOut(this.flame.nodes, this.side);
    this.legend([[`longer in ${a}`, SLOWER_TINTS[2]], [`longer in ${b}`, FASTER_TINTS[2]], ['differs by less than 0.5 % of the phase', ALIKE]]);
    $('flame-whole').textContent = `${a} ${duration(this.flame.a_ns)}, ${b} ${duration(this.flame.b_ns)}; as wide as in ${this.side === 'a' ? a : b}`;
  }

  colourOf(node) {
    const difference = ofA(node) - ofB(node), share = Math.abs(difference) / Math.max(1, this.flame.a_ns, this.flame.b_ns);
    const strength = TINT_SHARES.filter(least => share >= least).length;
    return strength ? (difference > 0 ? SLOWER_TINTS : FASTER_TINTS)[strength - 1] : ALIKE;
  }

  inkOn() { return '#111'; }

  textOf(node) {
    const [a, b] = this.data.labels, difference = ofA(node) - ofB(node);
    return [node[3], `${node[4]}:${node[5]}`, `${a} ${duration(ofA(node))}, ${b} ${duration(ofB(node))}`,
      `${duration(Math.abs(difference))} ${difference >= 0 ? 'more' : 'less'} in ${a}, as sampled in ${this.flame.phase}`];
  }

  timeText(flame) { return `${duration(flame.a_ns)} | ${duration(flame.b_ns)}`; }
}
