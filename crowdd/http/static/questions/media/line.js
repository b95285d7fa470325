/* The line of time of a sound or video, drawn by wavesurfer.js from left to right in every language: its wave, on demand its
   spectrogram with a scale, and what questions mark on it (marks/time.js). */
import { element } from "../element.js";
import { look, spectrogram, waves } from "../marks/libraries.js";

const WAVE_MAX = 20 * 60; // seconds of a sound whose wave is drawn
const SAMPLES_MAX = 10e6, RATE_MAX = 44100, RATE_MIN = 8000; // of a sound that is decoded: 40 MB
const HEIGHT = 88, FLAT = 48, SPECTRUM = 160, FFT = 512; // pixels; samples of a column
const ZOOM_MAX = 64;

export class Line {
  constructor(player) {
    this.player = player;
    this.place = element("div", { className: "waves", dir: "ltr", ariaHidden: "true" }); // the buttons and the list of marks say the same
    this.element = element("div", { className: "line" }, this.place);
    this.segment = null; // {start, end} of the mark that is shown now
    Object.assign(this, { zoom: 1, looping: false });
  }

  /** Draws what the player has; `readable`: others may read its samples. */
  async show(readable) {
    const { player } = this, [library] = await Promise.all([waves(), look()]);
    const drawn = readable && player.localName === "audio" && player.duration <= WAVE_MAX;
    this.isWave = drawn && await this.begin(library, {}).then(() => true, () => false);
    if (!this.isWave) await this.begin(library, { peaks: [[0, 0]], duration: player.duration, height: FLAT });
  }

  /* A line without a wave: videos, long sounds, and sounds of sites that do not let others read them. */
  async begin({ WaveSurfer, Regions }, options) {
    this.end();
    const { player } = this, colours = getComputedStyle(document.documentElement), ink = (name, otherwise) => colours.getPropertyValue(name).trim() || otherwise;
    this.regions = Regions.create();
    this.waves = WaveSurfer.create({
      container: this.place, media: player, height: HEIGHT, waveColor: ink("--wave", "#9fb4c4"), progressColor: ink("--wave-played", "#f0a51c"), cursorColor: "#fff",
      sampleRate: Math.round(Math.min(RATE_MAX, Math.max(RATE_MIN, SAMPLES_MAX / player.duration))), cursorWidth: 2, plugins: [this.regions], ...options,
    });
    await new Promise((resolve, reject) => {
      this.waves.once("ready", resolve);
      this.waves.once("error", reject);
    });
    for (const name of ["scroll", "zoom", "redraw"]) this.waves.on(name, () => this.moved?.());
    this.waves.on("timeupdate", (now) => this.turnBack(now));
  }

  end() {
    this.waves?.destroy();
    Object.assign(this, { waves: null, regions: null, spectrum: null, zoom: 1, segment: null });
  }

  /** Where the line begins on the screen and how wide all of it is: parts of it may be scrolled away. */
  get box() {
    const { left, width } = this.waves.getWrapper().getBoundingClientRect();
    return { left, width };
  }

  /** Shows so many times less of it at once. */
  enlarge(times) {
    this.zoom = Math.min(Math.max(this.zoom * times, 1), ZOOM_MAX);
    const width = this.place.clientWidth;
    this.waves.zoom(this.zoom === 1 ? 0 : width * this.zoom / this.player.duration);
    this.waves.setScrollTime(Math.max(0, this.player.currentTime - this.player.duration / this.zoom / 2));
  }

  /** Shows or hides which tones it has. */
  async turnSpectrum(on) {
    this.spectrum?.destroy();
    this.spectrum = null;
    if (!on) return;
    const Spectrogram = await spectrogram();
    this.spectrum = this.waves?.registerPlugin(Spectrogram.create({ height: SPECTRUM, labels: true, labelsBackground: "#0d2236cc", labelsColor: "#fff", labelsHzColor: "#fff", fftSamples: FFT, scale: "linear", splitChannels: false }));
  }

  play(start, end) {
    if (this.looping) end = undefined;
    this.waves.play(start, end);
  }

  /* The segment begins again at its end. */
  turnBack(now) {
    const { looping, segment } = this;
    if (!looping || !segment || this.player.paused || (now >= segment.start - 0.3 && now < segment.end)) return;
    this.player.currentTime = segment.start;
  }
}
