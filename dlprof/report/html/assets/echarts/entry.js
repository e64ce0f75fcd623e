// The parts of Apache ECharts that the pages use; `npm run build` makes echarts.min.js of them.
export {init, use, graphic, format, connect} from 'echarts/core';
import {use, graphic} from 'echarts/core';
import {BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart} from 'echarts/charts';
import {
  AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent,
  TooltipComponent, VisualMapComponent,
} from 'echarts/components';
import {CanvasRenderer} from 'echarts/renderers';

use([
  BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, AriaComponent, DataZoomComponent, GridComponent,
  LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent, VisualMapComponent, CanvasRenderer,
]);
